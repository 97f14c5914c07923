/** A customer who plays the examples of the API description, in their order. */
import { randomUUID } from 'node:crypto';
import type { Example } from '../../infra/openapi/docs.ts';
import { issuePortalCode } from '../../infra/operator/queries/portal-codes.ts';
import { portalPermissions } from '../../shared/accounts/portal-codes.ts';
import { placeholders } from '../../shared/api/placeholders.ts';
import { addFailedDelivery } from './example-delivery.ts';
import { addOffer } from './example-offer.ts';
import { ExampleValues } from './example-values.ts';

interface Given {
  account: string;
  bot: string | undefined;
  /** A number that no user has yet. */
  user: string;
  token: string;
  /** The token of the app network. */
  appToken: string;
}

export interface ExampleCustomer {
  /** Placeholders and ids of the examples, with their values in this run. */
  values: ExampleValues;
  /** Does what happens before an example outside the API. */
  prepare: (example: Example) => Promise<void>;
  /** The token with which an example is sent. */
  tokenOf: (example: Example) => string;
}

export const exampleCustomer = async ({ account, bot, user, token, appToken }: Given): Promise<ExampleCustomer> => {
  const { code } = await issuePortalCode({ account, label: 'portal', permissions: [...portalPermissions] });
  const values = new ExampleValues();
  values.set(placeholders.account, account);
  values.set(placeholders.label, 'test');
  values.set(placeholders.user, user);
  values.set(placeholders.userId, randomUUID());
  values.set(placeholders.bot, bot ?? '');
  values.set(placeholders.job, randomUUID());
  values.set(placeholders.encodedToken, Buffer.from(token).toString('base64url'));
  values.set(placeholders.day, new Date().toISOString().slice(0, 10));
  values.set(placeholders.code, code);
  for (const index of [1, 2, 3, 4, 5, 6, 7, 8]) values.set(`event-${index}`, randomUUID());
  return {
    values,
    prepare: async ({ endpoint }) => {
      if (endpoint === 'listDeliveries') await addFailedDelivery(account, user);
      if (endpoint === 'claimDeliveries') await addOffer(account, user);
    },
    tokenOf: ({ endpoint }) => {
      if (endpoint === 'receiveAppEvents') return appToken;
      return endpoint === 'endSession' ? values.substituted(placeholders.sessionToken) : token;
    },
  };
};
