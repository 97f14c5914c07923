/**
 * A client of AWS services with the AWS JSON protocol, which DynamoDB, SQS and Secrets Manager have ("AWS JSON 1.0 protocol",
 * Smithy documentation). Signatures, the correction of a wrong clock, connections, timeouts and retries are the SDK's. This
 * file only joins them, and makes the hashes: the SDK's own clients do it with a stack of steps for each call, and a schema of
 * the whole service.
 */
import { createHash, createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { partition } from '@aws-sdk/core/client';
import { AwsSdkSigV4Signer } from '@aws-sdk/core/httpAuthSchemes';
import { fromEnv } from '@aws-sdk/credential-provider-env';
import { HttpRequest, type HttpResponse, loadJsonRpcErrorCode } from '@smithy/core/protocols';
import { retryMiddleware, StandardRetryStrategy } from '@smithy/core/retry';
import { NodeHttpHandler, streamCollector } from '@smithy/node-http-handler';
import { SignatureV4 } from '@smithy/signature-v4';
import {
  type FinalizeHandler,
  type Hash,
  type HashConstructor,
  type NodeHttpHandlerOptions,
  SMITHY_CONTEXT_KEY,
} from '@smithy/types';
import { region, USER_AGENT, usesFips } from '../../../shared/core/settings.ts';

/** An AWS service. */
interface Service {
  /** The name in its host name and in signatures. */
  name: string;
  /** Whether its usual host in GovCloud is the one that FIPS 140 validates. */
  isFipsInGovCloud?: boolean;
  /** The name in environment variables. */
  variable: string;
  /** What `X-Amz-Target` begins with. */
  target: string;
  /** The version of the protocol. */
  version: '1.0' | '1.1';
  /** The base of pauses between retries, in milliseconds. */
  baseDelay: number;
  /** More headers of each request. */
  headers?: () => Record<string, string>;
  /** Errors with a class of their own, by their codes. */
  exceptions?: Partial<Record<string, typeof ServiceException>>;
}

/** Options of a client, as the SDK's clients take them. */
export interface ClientOptions {
  requestHandler: NodeHttpHandlerOptions;
  maxAttempts: number;
}

export interface SendOptions {
  abortSignal?: AbortSignal;
  /** Exchanges each attempt's signed request for its response; `exchange` is what the client does itself. */
  interceptor?: (request: HttpRequest, exchange: Exchange) => Promise<HttpResponse>;
}

type Exchange = (request: HttpRequest) => Promise<HttpResponse>;

/** A call, as the SDK's clients take it. */
export abstract class Command<Input extends object = object> {
  abstract readonly operation: string;
  readonly input: Input;

  constructor(input: Input) {
    this.input = input;
  }
}

/** The body of a response. */
export type Body = Record<string, unknown>;

/** An error response of a service. `name` is the service's code, or `Unknown`, if a proxy responds. */
export class ServiceException extends Error {
  /** The SDK's retries read both. */
  readonly $metadata: { httpStatusCode: number; requestId: string | undefined };
  declare readonly $response: HttpResponse;

  constructor(response: HttpResponse, body: Body) {
    super(String(body.message ?? body.Message ?? `The service answered ${response.statusCode}.`));
    this.name = codeOf(response, body);
    this.$metadata = { httpStatusCode: response.statusCode, requestId: response.headers['x-amzn-requestid'] };
    Object.defineProperty(this, '$response', { value: response });
  }
}

const codeOf = (response: HttpResponse, body: Body): string => loadJsonRpcErrorCode(response, body) ?? 'Unknown';

const signing = new AwsSdkSigV4Signer();

/** The signer keeps the bytes of a derived key for a day. In Node.js 24, the import of bytes takes longer than the HMAC. */
const keys = new WeakMap<Uint8Array, KeyObject>();

const keyOf = (bytes: Uint8Array): KeyObject => {
  const known = keys.get(bytes);
  if (known !== undefined) return known;
  const key = createSecretKey(bytes);
  keys.set(bytes, key);
  return key;
};

/** SHA-256, or with a key HMAC-SHA256, as the SDK's signer calls it. */
class Sha256 implements Hash {
  readonly #hash;

  constructor(key?: string | Uint8Array) {
    if (key === undefined) this.#hash = createHash('sha256');
    else this.#hash = createHmac('sha256', typeof key === 'string' ? key : keyOf(key));
  }

  update(bytes: Uint8Array): void {
    this.#hash.update(bytes);
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
}

export class JsonClient {
  readonly #service: Service;
  readonly #connections: NodeHttpHandler;
  /** The URL of the service in AWS, when it is known. */
  #ofAws: string | undefined;
  /** What the SDK's signer and its retries read of a client. */
  readonly #config: {
    signer: () => Promise<SignatureV4>;
    systemClockOffset: number;
    maxAttempts: () => Promise<number>;
    retryStrategy: () => Promise<StandardRetryStrategy>;
  };

  constructor(service: Service, { requestHandler, maxAttempts }: ClientOptions) {
    this.#service = service;
    this.#connections = new NodeHttpHandler(requestHandler);
    const signer = new SignatureV4({
      service: service.name,
      region: async () => region(),
      // Lambda provides credentials only through the environment.
      credentials: fromEnv(),
      sha256: Sha256 as HashConstructor,
    });
    const strategy = new StandardRetryStrategy({ maxAttempts, baseDelay: service.baseDelay });
    this.#config = {
      signer: async () => signer,
      systemClockOffset: 0,
      maxAttempts: async () => maxAttempts,
      retryStrategy: async () => strategy,
    };
  }

  /**
   * Calls an operation, with retries.
   *
   * @param body - the input as JSON
   * @param endpoint - the URL of the service, if the input names one
   * @throws ServiceException, or the error of the connection
   */
  async call(operation: string, body: string, options: SendOptions = {}, endpoint = this.#endpoint()): Promise<Body> {
    const { protocol, hostname, port, host, pathname } = endpoint;
    const request = new HttpRequest({
      protocol,
      hostname,
      ...(port !== '' && { port: Number(port) }),
      method: 'POST',
      path: pathname.endsWith('/') ? pathname : `${pathname}/`,
      headers: {
        host,
        'user-agent': USER_AGENT,
        'content-type': `application/x-amz-json-${this.#service.version}`,
        'content-length': String(Buffer.byteLength(body)),
        'x-amz-target': `${this.#service.target}.${operation}`,
        ...this.#service.headers?.(),
      },
      body,
    });
    const attempt: FinalizeHandler<object, Output> = async () => ({
      output: await this.#attempt(request, options),
      response: undefined,
    });
    const context = { [SMITHY_CONTEXT_KEY]: cancellable(options) };
    const { output } = await retryMiddleware(this.#config)<Output>(attempt, context)({ input: {}, request });
    return output;
  }

  /** The endpoint by the SDK's rules: of the service, of all services, or the one of AWS in the region and its partition. */
  #endpoint(): URL {
    const { variable } = this.#service;
    const { env } = process;
    const given = env[`AWS_ENDPOINT_URL_${variable}`] || env.AWS_ENDPOINT_URL;
    if (given) return new URL(given);
    this.#ofAws ??= `https://${this.#hostName()}.${region()}.${partition(region()).dnsSuffix}`;
    return new URL(this.#ofAws);
  }

  #hostName(): string {
    const { name, isFipsInGovCloud } = this.#service;
    const isFipsAnyway = isFipsInGovCloud && region().startsWith('us-gov-');
    return usesFips() && !isFipsAnyway ? `${name}-fips` : name;
  }

  /** Closes idle connections. */
  destroy(): void {
    this.#connections.destroy();
  }

  async #attempt(request: HttpRequest, options: SendOptions): Promise<Output> {
    const properties = { context: {}, config: this.#config };
    const signed = (await signing.sign(request, NO_IDENTITY, properties)) as HttpRequest;
    const exchange: Exchange = async (one) => (await this.#connections.handle(one, cancellable(options))).response;
    const response = await (options.interceptor?.(signed, exchange) ?? exchange(signed));
    const text = Buffer.from(await streamCollector(response.body)).toString();
    if (response.statusCode >= 300) {
      const body = jsonOf(text);
      const Exception = this.#service.exceptions?.[codeOf(response, body)] ?? ServiceException;
      // It throws the error, but first corrects the clock if the error is about it.
      signing.errorHandler(properties)(new Exception(response, body));
    }
    signing.successHandler(response, properties);
    return { ...JSON.parse(text || '{}'), $metadata: { httpStatusCode: response.statusCode } };
  }
}

/** The signal of a call, if it has one. */
const cancellable = ({ abortSignal }: SendOptions) => (abortSignal === undefined ? {} : { abortSignal });

type Output = Body & { $metadata: { httpStatusCode: number } };

/** The signer asks its own provider for credentials. */
const NO_IDENTITY = Object();

/** The body of an error response; empty if it is not of the service, but of a proxy. */
const jsonOf = (text: string): Body => {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
};
