/** Questions on a terminal. They are written to stderr, so that stdout has the result alone. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

export interface Questions {
  /** Returns the answer without white space around it; an empty one becomes the default. */
  ask(question: string, preset?: string): Promise<string>;
  /** As `ask`, for a secret: the terminal does not show what is typed. */
  askSecret(question: string): Promise<string>;
  /** Whether the answer is yes. Default: no. */
  confirm(question: string): Promise<boolean>;
  close(): void;
}

interface Terminal {
  input: NodeJS.ReadableStream & { isTTY?: boolean };
  output: NodeJS.WritableStream & { isTTY?: boolean };
}

/** Questions on this process's terminal; undefined if there is none, for example in a script. */
export const terminalQuestions = (
  { input, output }: Terminal = { input: process.stdin, output: process.stderr },
): Questions | undefined => {
  if (!input.isTTY || !output.isTTY) return undefined;
  let isHidden = false;
  const shown = new Writable({
    write(chunk, _encoding, done) {
      if (!isHidden) output.write(chunk);
      done();
    },
  });
  const lines = createInterface({ input, output: shown, terminal: true });
  const ask = async (question: string, preset?: string): Promise<string> => {
    const words = preset ? `${question} [${preset}]: ` : `${question}: `;
    return (await lines.question(words)).trim() || (preset ?? '');
  };
  return {
    ask,
    askSecret: async (question) => {
      output.write(`${question} (not shown): `);
      isHidden = true;
      try {
        return (await lines.question('')).trim();
      } finally {
        isHidden = false;
        output.write('\n');
      }
    },
    confirm: async (question) => /^y(es)?$/i.test(await ask(`${question} [y/N]`)),
    close: () => lines.close(),
  };
};
