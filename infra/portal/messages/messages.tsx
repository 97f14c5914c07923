/** The view Messages: the list, and the life of one message. */
import { useRef } from 'preact/hooks';
import type { ViewProps } from '../views.ts';
import { List } from './list.tsx';
import { Message } from './message.tsx';
import { filtersOf, listLink } from './search.ts';

export const Messages = ({ route, session }: ViewProps) => {
  // A message leads back to the list as it was.
  const list = useRef(listLink({}));
  const [id] = route.rest;
  if (id !== undefined) return <Message key={id} id={id} session={session} back={list.current} />;
  const filters = filtersOf(route.query);
  list.current = listLink(filters);
  return <List filters={filters} session={session} />;
};
