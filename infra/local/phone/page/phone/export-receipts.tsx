/** The link to a user's consent receipts, as a file. */
import { Icon } from '../icons.tsx';

export const ExportReceipts = ({ phone }: { phone: string }) => (
  <a class="button with-icon" href={`/view/phones/${phone}/consent-record`} download>
    <Icon name="file" />
    <span class="action-label">Export receipts</span>
  </a>
);
