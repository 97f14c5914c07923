/** Chunks: the recipients of a batch, sorted by rank, so that erasure finds a number by reading one chunk. */
import { rankOf } from '../table/batch-keys.ts';
import type { BatchContent, Chunk, ChunkPlace } from './batch.ts';

/** A message of a batch, with its content if contents differ. */
export interface Recipient {
  to: string;
  content?: BatchContent;
}

/** Maximum number of messages of a chunk, and of bytes: an item has at most 400 KB. */
const MOST = { messages: 250, bytes: 300_000 };

/** A chunk without its key. */
export type ChunkBody = Pick<Chunk, 'position' | 'to' | 'contents'>;

/** The order of messages in a batch: by rank and number, and messages to one number in the order of the request. */
export const inOrder = <Sent extends { to: string }>(messages: readonly Sent[]): Sent[] =>
  messages
    .map((sent) => ({ sent, rank: `${rankOf(sent.to)}${sent.to}` }))
    .toSorted((a, b) => (a.rank < b.rank ? -1 : Number(a.rank > b.rank)))
    .map(({ sent }) => sent);

/** Divides messages, which are `inOrder`, into chunks. */
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

/** Where a chunk begins. */
export const placeOf = ({ position, to: [first = ''] }: ChunkBody): ChunkPlace => ({ rank: rankOf(first), position });

/** The chunk that contains a position; undefined if the position is after the last message. */
export const chunkAt = (places: readonly ChunkPlace[], position: number): ChunkPlace | undefined =>
  places.findLast((place) => place.position <= position);
