/**
 * Replaces the SDK's chain of credential providers in bundles. Lambda provides credentials only through the
 * environment; the rest of the chain is 130 KB that every cold start would load.
 */
export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';
