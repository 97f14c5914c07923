/** Two lines of a shell that set the URLs, numbers and token of a local stack, for requests from a terminal. */
import type { StackFile } from '../../operator/local-stack/stack-file.ts';

export const exportLines = (file: StackFile): string => {
  const { base_url, bridge_url, phone_url, rapidpro_url, turn_url } = file;
  const { token, panelist, bot_phone_number, turn_bot_phone_number } = file;
  return `export BASE_URL=${base_url} BRIDGE_URL=${bridge_url} PHONE_URL=${phone_url} RAPIDPRO_URL=${rapidpro_url} TURN_URL=${turn_url} PANELIST=${panelist} TURN_BOT=${turn_bot_phone_number} BOT=${bot_phone_number}
export TOKEN=${token}`;
};
