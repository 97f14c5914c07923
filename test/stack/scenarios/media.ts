/** Requests of uploads. */
import type { media } from '../../../shared/api/areas/media.ts';
import { newUnguessableId } from '../../../shared/core/ids.ts';
import { upload } from '../../../shared/media/uploads.ts';
import { fileOf, pdf, png } from '../support/files.ts';
import type { Scenarios } from './scenarios.ts';
import { uploading } from './world.ts';

export const mediaScenarios: Scenarios<typeof media> = {
  uploadImage: {
    prepare: async () => ({ ...(await uploading(fileOf(png))) }),
    repeat: 'new',
    max: { read: 0, write: 2, of: 'any' },
  },
  uploadFile: {
    prepare: async () => ({ ...(await uploading(fileOf(pdf))) }),
    repeat: 'new',
    max: { read: 0, write: 2, of: 'any' },
  },
  readMedia: {
    prepare: async ({ account }) => {
      const { url } = await upload(account, 'image', fileOf(png));
      return { route: 'GET /media/{id}', path: { id: url.split('/').at(-1) ?? '' } };
    },
    readsOnly: true,
    max: { read: 1.5, write: 0, of: 'unknown' },
    worst: { prepare: async () => ({ route: 'GET /media/{id}', path: { id: newUnguessableId() } }), status: 404 },
  },
};
