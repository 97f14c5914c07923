/**
 * Stages: the deployments of the service. Each is a file of settings, `infra/stages/STAGE.json`, which `-c stage=STAGE`
 * selects. Settings cannot be given as options of the command: a deployment that lacks one of them would remove what an
 * earlier deployment with it has created.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readSettings, type Settings, settingNames } from './settings.ts';

/**
 * The folder of the stages' files.
 *
 * @internal Tests use it, too.
 */
export const STAGES_FOLDER = fileURLToPath(new URL('stages', import.meta.url));

/**
 * What a file cannot set: its name is the stage's, and the rest is for the local stack.
 *
 * @internal Tests use it, too.
 */
export const NOT_IN_FILES = ['stage', 'conditions', 'documentation'];

/**
 * The settings of the deployment that the CDK context names. A program, such as the local stack, may pass them all as an
 * object `settings` instead; an option of the command is always a string.
 *
 * @throws Error — no stage is chosen, it has no file, or the file or the context is wrong
 */
export const settingsFrom = (context: (name: string) => unknown, folder = STAGES_FOLDER): Settings => {
  const given = context('settings');
  if (isObject(given)) return readSettings(given);
  const stage = context('stage');
  const stages = stagesIn(folder);
  const choice = `Stages: ${stages.join(', ') || 'none'}. Each is a file in ${FOLDER_NAME}.`;
  if (typeof stage !== 'string') throw new Error(`Choose a stage: -c stage=NAME. ${choice}`);
  const path = `${FOLDER_NAME}/${stage}.json`;
  if (!stages.includes(stage)) throw new Error(`There is no ${path}. ${choice}`);
  const stray = ['settings', ...settingNames].filter((name) => name !== 'stage' && context(name) !== undefined);
  if (stray.length > 0) {
    throw new Error(
      `Settings belong in ${path}, not in the CDK context: ${stray.join(', ')}. The next deployment without them would undo them.`,
    );
  }
  return readSettings({ ...contentOf(readFileSync(join(folder, `${stage}.json`), 'utf8'), path), stage }, path);
};

const FOLDER_NAME = 'infra/stages';

const contentOf = (text: string, path: string): object => {
  const content = parse(text, path);
  if (!isObject(content)) throw new Error(`${path} must contain a JSON object of settings.`);
  const reserved = NOT_IN_FILES.filter((name) => name in content);
  if (reserved.length > 0) throw new Error(`${path} cannot contain ${reserved.join(' or ')}.`);
  return content;
};

const parse = (text: string, path: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${path} is not JSON: ${error instanceof Error ? error.message : error}`);
  }
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The names of the stages that have a file.
 *
 * @internal Tests use it, too.
 */
export const stagesIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.slice(0, -'.json'.length))
    .sort();
