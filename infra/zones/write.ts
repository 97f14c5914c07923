/** Writes the time zones of phone numbers. */
import { writeFileSync } from 'node:fs';
import { zonesModule } from './table.ts';

writeFileSync(new URL('../../shared/core/zones.ts', import.meta.url), zonesModule());
