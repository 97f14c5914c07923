/** What the platforms are called, and what they are. */
import type { AccountView } from '../../connect/views.ts';

export type PlatformName = NonNullable<AccountView['platform']>;

export const titles: Record<PlatformName, string> = { rapidpro: 'RapidPro', turn: 'Turn', webhook: 'Own webhook' };

/** The platforms that can be connected, in the order of the wizard. */
export const choices: { name: PlatformName; about: string }[] = [
  { name: 'rapidpro', about: 'RapidPro or TextIt, by a channel of the type External API.' },
  { name: 'turn', about: 'Turn.io, by a channel of its Channel API.' },
  { name: 'webhook', about: 'A server of your own, which gets signed requests.' },
];

/** The steps of the wizard. */
export const steps = ['Platform', 'Account', 'Copy values', 'Check both ways'] as const;

/** The first and the last characters of a secret. */
export const maskedSecret = (secret: string): string => `${secret.slice(0, 9)}${'•'.repeat(12)}${secret.slice(-4)}`;
