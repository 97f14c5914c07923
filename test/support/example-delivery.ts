/** What the examples of deliveries need: an account with a webhook, which has rejected an event. */
import { exampleDelivery } from '../../infra/local/documentation/example-delivery.ts';
import { updateAccount } from '../../infra/operator/queries/accounts-admin.ts';
import { putAll } from '../../shared/table/client.ts';

/** Sets up a webhook that does not respond, and adds a failed delivery. Calling it again adds nothing. */
export const addFailedDelivery = async (account: string, phone: string): Promise<void> => {
  const settings = { url: 'http://127.0.0.1:1/hook', secret: `whsec_${Buffer.alloc(32).toString('base64')}` };
  await updateAccount(account, { platform: { name: 'webhook', settings } });
  await putAll([exampleDelivery(account, phone)]);
};
