/** The data of the wizard that connects a chat platform: `GET /view/accounts` and `GET /view/connections/{account}`. */

/** The chat platforms, as in the table. The page imports nothing of the service. */
type PlatformName = 'rapidpro' | 'turn' | 'webhook';

/** An account in the list of accounts. */
export interface AccountView {
  id: string;
  name: string;
  bot_number: string | null;
  platform: PlatformName | null;
  /** `connecting` while the wizard is open for it. */
  state: 'connecting' | 'working' | 'failing' | 'not connected';
  /** Since when its platform fails; null if it does not, or the time is unknown. */
  failing_since: string | null;
}

/** A field of the platform's form. */
interface FieldView {
  field: string;
  value: string;
  secret: boolean;
  note: string | null;
}

/** A setting that the service needs from the platform. */
interface SettingView {
  setting: string;
  label: string;
  where: string;
  example: string;
  required: boolean;
  secret: boolean;
  /** The stored value; empty if there is none, or for a secret. */
  value: string;
  /** Whether a value is stored, also if it is a secret. */
  known: boolean;
}

/** A check of a connection. */
export interface CheckView {
  title: string;
  result: 'good' | 'failed';
  detail: string;
  fix: string | null;
  status: number | null;
  ms: number | null;
}

/** A connection that is being set up. */
export interface ConnectionView {
  account: { id: string; name: string; bot_number: string };
  platform: PlatformName;
  title: string;
  form: string;
  steps: string[];
  fields: FieldView[];
  settings: SettingView[];
  /** Whether a simulator takes the place of the platform. */
  simulated: boolean;
  /** The platform that the account had before, if it is another one. */
  replaces: string | null;
  /** The last checks; null before the first ones. */
  checks: CheckView[] | null;
}
