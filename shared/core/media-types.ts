/** The types of messages that have a URL. */
export const mediaTypes = ['image', 'file', 'audio', 'video'] as const;

export type MediaType = (typeof mediaTypes)[number];
