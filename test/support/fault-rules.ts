/** Fault rules of the app network on a stack that several tests share. */
import { onTestFinished } from 'vitest';
import type { Rule } from '../../infra/local/simulators/fault-rules.ts';

/** Sets the rules of one phone, until the test ends or the returned function is called. */
export const setFaultRules = async (
  phoneUrl: string,
  phone: string,
  ...rules: Rule[]
): Promise<() => Promise<void>> => {
  const address = `${phoneUrl}/phones/${phone}/behaviour`;
  const end = async (): Promise<void> => void (await fetch(address, { method: 'DELETE' }));
  onTestFinished(end);
  const { ok, status } = await fetch(address, { method: 'PUT', body: JSON.stringify(rules) });
  if (!ok) throw new Error(`The app network rejected the rules with ${status}.`);
  return end;
};
