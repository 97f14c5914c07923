/** What the lists of People's data share: their tabs, and the filter of a period in days. */
import { linkTo } from '../router.ts';
import { TextField } from '../shell/page.tsx';
import { Tabs } from '../shell/tabs.tsx';
import { people as words } from '../words/people.ts';

export const PeopleTabs = ({ open }: { open: 'requests' | 'receipts' }) => (
  <Tabs
    label={words.tabs.label}
    tabs={[
      { href: linkTo('people'), label: words.tabs.requests, isOpen: open === 'requests' },
      { href: linkTo('people', 'receipts'), label: words.tabs.receipts, isOpen: open === 'receipts' },
    ]}
  />
);

const DAY = /^\d{4}-\d\d-\d\d$/;

/** The beginning of a day of the reader, some days later. */
const startOf = (day: string, later = 0): string | undefined => {
  if (!DAY.test(day)) return undefined;
  const start = new Date(`${day}T00:00`);
  start.setDate(start.getDate() + later);
  return Number.isNaN(start.getTime()) ? undefined : start.toISOString();
};

/** The period of an address, from the beginning of its first day to the end of its last one, as parameters of the API. */
export const periodIn = ({ from = '', to = '' }: Record<string, string>) => {
  const [start, end] = [startOf(from), startOf(to, 1)];
  return {
    period: { ...(start !== undefined && { start }), ...(end !== undefined && { end }) },
    isBackwards: start !== undefined && end !== undefined && start >= end,
  };
};

interface PeriodProps {
  from: string;
  to: string;
  isBackwards: boolean;
  onChange: (changed: Record<string, string>) => void;
}

export const Period = ({ from, to, isBackwards, onChange }: PeriodProps) => (
  <>
    <TextField
      label={words.list.from}
      type="date"
      value={from}
      onChange={({ currentTarget }) => onChange({ from: currentTarget.value })}
    />
    <TextField
      label={words.list.to}
      error={isBackwards ? words.list.backwards : undefined}
      type="date"
      value={to}
      onChange={({ currentTarget }) => onChange({ to: currentTarget.value })}
    />
  </>
);
