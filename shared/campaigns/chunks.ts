/** Chunks: the recipients of a batch, in the order of the request. */
import type { BatchContent, Chunk } from './batch.ts';

/** A message of a batch, with its content if contents differ. */
export interface Recipient {
  to: string;
  content?: BatchContent;
}

/** Maximum number of messages of a chunk, and of bytes: an item has at most 400 KB. */
const MOST = { messages: 250, bytes: 300_000 };

/** A chunk without its key. */
export type ChunkBody = Pick<Chunk, 'position' | 'to' | 'contents'>;

/** Divides messages into chunks, in their order. */
export const chunksOfBatch = (messages: readonly Recipient[]): ChunkBody[] => {
  const chunks: ChunkBody[] = [];
  let bytes = 0;
  for (const [position, { to, content }] of messages.entries()) {
    const size = to.length + (content === undefined ? 0 : Buffer.byteLength(JSON.stringify(content)));
    let chunk = chunks.at(-1);
    if (chunk === undefined || chunk.to.length === MOST.messages || bytes + size > MOST.bytes) {
      chunk = { position, to: [], ...(content !== undefined && { contents: [] }) };
      chunks.push(chunk);
      bytes = 0;
    }
    chunk.to.push(to);
    if (content !== undefined) chunk.contents?.push(content);
    bytes += size;
  }
  return chunks;
};

/** The first position of the chunk that contains a position; undefined if there are no chunks. */
export const chunkAt = (chunks: readonly number[], position: number): number | undefined =>
  chunks.findLast((first) => first <= position);
