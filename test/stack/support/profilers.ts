/** Profilers of the served stack. */
import { call } from './client.ts';
import type { Caller } from './world.ts';

/** A profiler, and the ids of its options. */
export interface YesOrNo {
  id: string;
  yes: string;
  no: string;
}

/** A vendor's profiler with the options "yes" and "no". */
export const newProfiler = async ({ token }: Pick<Caller, 'token'>): Promise<YesOrNo> => {
  const { body } = await call('createProfiler', { token, body: { question: 'Well?', options: ['yes', 'no'] } });
  const { yes = '', no = '' } = body.options;
  return { id: body.profiler_id, yes, no };
};
