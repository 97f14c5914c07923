/**
 * Stands in for the SDK's chain of credential providers when functions are bundled: Lambda gives credentials through
 * the environment and in no other way, and the rest of the chain is 130 KB that every cold start would load.
 */
export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';
