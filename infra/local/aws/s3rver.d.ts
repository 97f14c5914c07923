/** Types for the used part of a package that has none. */
declare module '@20minutes/s3rver' {
  export default class S3rver {
    constructor(options: { address: string; port: number; silent: boolean; directory: string });
    readonly store: { putBucket(name: string): Promise<unknown> };
    run(): Promise<unknown>;
    close(): Promise<void>;
  }
}

declare module '@20minutes/s3rver/lib/models/account.js' {
  const account: { DUMMY_ACCOUNT: { createKeyPair(accessKeyId: string, secretAccessKey: string): void } };
  export default account;
}
