/** `npm run openapi`: writes the API description to `shared/api/openapi/openapi.json`, which the service returns. */
import { writeFile } from 'node:fs/promises';
import { describeApi } from './document.ts';

export const DESCRIPTION_FILE = new URL('../../shared/api/openapi/openapi.json', import.meta.url);

/** The content of the file. */
export const descriptionText = (): string => `${JSON.stringify(describeApi(), null, 2)}\n`;

if (import.meta.main) await writeFile(DESCRIPTION_FILE, descriptionText());
