/** All steps of a smoke test, in their order. */
import type { Step } from './day.ts';
import { basics } from './steps/basics.ts';
import { messages } from './steps/messages.ts';
import { people } from './steps/people.ts';
import { chatPlatforms } from './steps/platforms.ts';

const { request, retrieve, erase } = people;

/** By name. The user is removed last. */
export const steps: Record<string, Step> = { ...basics, ...messages, ...chatPlatforms, request, retrieve, erase };
