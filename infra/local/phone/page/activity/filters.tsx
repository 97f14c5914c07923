/** The panel of filters: business, user, route, status. The filters that are set are chips, which remove them. */

import { Icon } from '../../../../web/icons.tsx';
import { spacedNumber } from '../../../../web/text.tsx';
import type { Filters as FilterState } from '../../traces/views.ts';
import type { Bot, PhoneSummary } from '../../views.ts';
import type { Go } from '../data/address.ts';
import { filterCount } from '../data/traces.ts';
import { Menu } from '../shell/menu.tsx';

interface FiltersProps {
  address: FilterState;
  go: Go;
  bots: Bot[];
  users: PhoneSummary[];
  routes: string[];
}

const statuses = [
  { value: '2xx', label: '2xx: accepted' },
  { value: '4xx', label: '4xx: rejected' },
  { value: '5xx', label: '5xx: failed' },
  { value: 'none', label: 'No response' },
];

type Name = 'business' | 'of' | 'route' | 'status';

interface Choice {
  name: Name;
  label: string;
  options: { value: string; label: string }[];
}

export const Filters = ({ address, go, bots, users, routes }: FiltersProps) => {
  const count = filterCount(address);
  const choices: Choice[] = [
    { name: 'business', label: 'Business', options: bots.map(({ id, name }) => ({ value: id, label: name })) },
    {
      name: 'of',
      label: 'User',
      options: users.map(({ phone, name }) => ({ value: phone, label: name ?? spacedNumber(phone) })),
    },
    { name: 'route', label: 'Route', options: routes.map((route) => ({ value: route, label: route })) },
    { name: 'status', label: 'Status', options: statuses },
  ];
  const set = choices.filter(({ name }) => address[name] !== '');
  return (
    <>
      <Menu
        label={count === 0 ? 'Filter' : `Filter, ${count} set`}
        look="quiet-button"
        face={
          <>
            <Icon name="filter" />
            Filter
            {count > 0 && <span class="count-chip">{count}</span>}
          </>
        }
      >
        {() => (
          <div class="filter-fields">
            {choices.map(({ name, label, options }) => (
              <label key={name}>
                {label}
                <select value={address[name]} onChange={({ currentTarget }) => go({ [name]: currentTarget.value })}>
                  <option value="">All</option>
                  {withPresent(options, address[name]).map(({ value, label: text }) => (
                    <option key={value} value={value}>
                      {text}
                    </option>
                  ))}
                </select>
              </label>
            ))}
          </div>
        )}
      </Menu>
      {set.length > 0 && (
        <ul class="set-filters" aria-label="Filters">
          {set.map(({ name, label, options }) => (
            <li key={name}>
              <button type="button" onClick={() => go({ [name]: '' })}>
                {label}: {options.find(({ value }) => value === address[name])?.label ?? address[name]}
                <Icon name="close" />
                <span class="unseen">Remove</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
};

/** The options, with the present value, also if no row has it. */
const withPresent = (options: Choice['options'], present: string): Choice['options'] =>
  present === '' || options.some(({ value }) => value === present)
    ? options
    : [...options, { value: present, label: present }];
