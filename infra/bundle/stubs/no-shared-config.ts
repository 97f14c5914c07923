/**
 * Replaces the SDK's reader of `~/.aws/config` and `~/.aws/credentials` in bundles. Lambda has neither file, and functions of
 * the local stack must not depend on those of a developer. Looking for them loads Node's `fs/promises`.
 */
export const CONFIG_PREFIX_SEPARATOR = '.';

export const loadSharedConfigFiles = async () => ({ configFile: {}, credentialsFile: {} });
