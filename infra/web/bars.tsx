/** A table of counts with bars. */

interface BarRow {
  label: string;
  count: number;
  /** The share as a text. */
  share?: string;
  kind?: 'bad' | 'received' | undefined;
}

interface BarTableProps {
  caption: string;
  rows: BarRow[];
  /** The count whose bar is complete. */
  max: number;
}

/** The bars are hidden from screen readers, which read the counts. */
export const BarTable = ({ caption, rows, max }: BarTableProps) => (
  <table class="bars">
    <caption class="unseen">{caption}</caption>
    <tbody>
      {rows.map(({ label, count, share, kind = '' }) => (
        <tr key={label} class={kind}>
          <th scope="row">{label}</th>
          <td>
            <span class="track" aria-hidden="true">
              {count > 0 && <span class="bar" style={{ width: `${Math.min(count / max, 1) * 100}%` }} />}
            </span>
          </td>
          <td class="count">{count.toLocaleString('en')}</td>
          {share !== undefined && <td class="share">{share}</td>}
        </tr>
      ))}
    </tbody>
  </table>
);
