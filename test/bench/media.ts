/** The time of uploads and downloads on the local stack, by size. */
import { type Figure, quantile, times } from './report.ts';
import { demo, measure, stack } from './support.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

/** A PNG of this many bytes. */
const pngOf = (size: number): File => {
  const bytes = new Uint8Array(size);
  bytes.set(PNG);
  return new File([bytes], 'a.png');
};

const timed = async (found: number[], work: () => Promise<Response>): Promise<Response> => {
  const start = performance.now();
  const response = await work();
  await response.clone().arrayBuffer();
  found.push(performance.now() - start);
  if (!response.ok) throw new Error(`${response.status}`);
  return response;
};

/** Times in milliseconds of uploads, of downloads, and of a list of profilers for comparison. */
const timesOf = async (size: number, count: number) => {
  const found = { upload: [] as number[], show: [] as number[], other: [] as number[] };
  const headers = { authorization: `Bearer ${demo.token}` };
  const file = pngOf(size);
  for (let done = 0; done < count; done += 1) {
    const body = new FormData();
    body.append('file', file);
    const uploaded = await timed(found.upload, () =>
      fetch(`${stack.baseUrl}/v1/upload_image`, { method: 'POST', headers, body }),
    );
    const { url } = (await uploaded.json()) as { url: string };
    await timed(found.show, () => fetch(url));
    await timed(found.other, () => fetch(`${stack.baseUrl}/v1/research_profilers`, { headers }));
  }
  return found;
};

await measure('media', async () => {
  await timesOf(1_000, 20);
  const figures: Figure[] = [];
  for (const [name, size, count] of [
    ['10 KB', 10_000, 200],
    ['500 KB', 500_000, 100],
    ['4 MB', 4 * 1024 * 1024, 40],
  ] as const) {
    const { upload, show, other } = await timesOf(size, count);
    const ratio = (values: number[]) => quantile(values, 0.5) / quantile(other, 0.5);
    figures.push(
      times(`an upload of ${name}`, upload),
      { what: 'ratio to a list of profilers', value: ratio(upload), unit: '×' },
      times(`showing ${name}`, show),
      { what: 'ratio to a list of profilers', value: ratio(show), unit: '×' },
    );
  }
  return figures;
});
