/** Finds Chromium on this machine. */
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** The shell without windows takes half the processor time. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];

/**
 * The path in CHROMIUM_PATH, or the path of the first Chromium on the PATH.
 *
 * @throws Error — Chromium was not found; the message explains the installation
 */
export const findChromium = async (): Promise<string> => {
  const { CHROMIUM_PATH, PATH = '' } = process.env;
  const folders = PATH.split(delimiter);
  const candidates = CHROMIUM_PATH
    ? [CHROMIUM_PATH]
    : NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  for (const candidate of candidates) if (await isProgram(candidate)) return candidate;
  throw new Error(
    CHROMIUM_PATH
      ? `There is no program at CHROMIUM_PATH, ${CHROMIUM_PATH}.`
      : 'Tests in a browser need Chromium: install it (apt-get install chromium-headless-shell), or set CHROMIUM_PATH to where it is.',
  );
};

const isProgram = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
