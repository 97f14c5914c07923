/** Icons: lines of a square of 24. They are decoration: a text beside each, or a label, has its meaning. */
const paths = {
  activity: 'M3 12h4l3 8 4-16 3 8h4',
  alert: 'M12 8v5m0 3.500v.1M12 3 2 20h20z',
  back: 'M19 12H5m6-6-6 6 6 6',
  block: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM5.700 5.700l12.600 12.600',
  book: 'M12 6c-2-1.500-5-2-9-2v14c4 0 7 .5 9 2 2-1.500 5-2 9-2V4c-4 0-7 .5-9 2zM12 6v14',
  calendar: 'M4 6h16v14H4zM4 10h16M8 3v4M16 3v4',
  campaign: 'M4 10v4h3l9 5V5l-9 5zM19 9a4 4 0 0 1 0 6M8 14l1.500 6h2.500',
  chat: 'M4 5h16v12H9l-5 4z',
  check: 'M5 12.5l5 5L19 7',
  checks: 'M2 12.5l5 5L16 7M12 16l1.500 1.500L22 7',
  chevron: 'M7 10l5 5 5-5',
  clock: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3 2',
  close: 'M6 6l12 12M18 6 6 18',
  copy: 'M9 9h11v11H9zM15 9V4H4v11h5',
  cross: 'M8 3h8l5 5v8l-5 5H8l-5-5V8zM9 9l6 6M15 9l-6 6',
  download: 'M12 4v11M7 10l5 5 5-5M4 16v4h16v-4',
  eye: 'M2 12c3-5 6-7 10-7s7 2 10 7c-3 5-6 7-10 7s-7-2-10-7zM12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6z',
  fast: 'M4 5l8 7-8 7zM12 5l8 7-8 7z',
  file: 'M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6',
  filter: 'M4 6h16M7 12h10M10 18h4',
  hidden:
    'M3 3l18 18M6 7c-1.500 1.200-2.800 2.900-4 5 3 5 6 7 10 7 1.800 0 3.400-.4 4.900-1.300M10 5.200c4.800-.8 9 1.500 12 6.800-.6 1-1.200 1.900-1.900 2.600',
  home: 'M4 11l8-7 8 7v9h-6v-6h-4v6H4z',
  hourglass: 'M6 3h12M6 21h12M7 3v4l5 5 5-5V3M7 21v-4l5-5 5 5v4',
  key: 'M14 10a4.500 4.500 0 1 1-1-2l8 0v4h-3v3h-3v-3z',
  layers: 'M12 3 3 8l9 5 9-5zM3 12.5l9 5 9-5M3 17l9 5 9-5',
  link: 'M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1',
  list: 'M4 6l1.500 1.500L8 5M4 12l1.500 1.500L8 11M4 18l1.500 1.500L8 17M12 6h8M12 12h8M12 18h8',
  lock: 'M6 11h12v9H6zM8 11V8a4 4 0 0 1 8 0v3',
  menu: 'M4 6h16M4 12h16M4 18h16',
  moon: 'M20 14.500A8.500 8.500 0 0 1 9.500 4a8.500 8.500 0 1 0 10.500 10.500z',
  more: 'M12 5.500a.5.5 0 1 0 0-1 .5.5 0 0 0 0 1zM12 12.500a.5.5 0 1 0 0-1 .5.5 0 0 0 0 1zM12 19.500a.5.5 0 1 0 0-1 .5.5 0 0 0 0 1z',
  pause: 'M8 5v14M16 5v14',
  pen: 'M4 20l1-5L16 4l4 4L9 19zM14 6l4 4',
  people:
    'M9 11a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7zM2.500 20c0-4 3-6 6.500-6s6.500 2 6.500 6M16 4.500a3.500 3.500 0 0 1 0 6M18 14.500c2.200.8 3.500 2.700 3.500 5.500',
  person: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21c0-4 4-7 8-7s8 3 8 7',
  phone: 'M7 3h10v18H7zM11 18h2',
  picture: 'M4 4h16v16H4zM4 17l5-5 4 4 3-3 4 4M15 9v.1',
  place: 'M12 21c-4-5-6-8-6-11a6 6 0 0 1 12 0c0 3-2 6-6 11zM12 12a2 2 0 1 0 0-4 2 2 0 0 0 0 4z',
  play: 'M7 4l12 8-12 8z',
  plug: 'M9 3v5M15 3v5M6 8h12v3a6 6 0 0 1-12 0zM12 17v4',
  plus: 'M12 5v14M5 12h14',
  reply: 'M9 7 4 12l5 5M4 12h10c4 0 6 2 6 6',
  retry: 'M4 4v6h6M4.500 10a8 8 0 1 1-.5 4',
  revoked: 'M12 3l8 3v6c0 5-4 8-8 9-4-1-8-4-8-9V6zM9.500 9.500l5 5M14.500 9.500l-5 5',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM16 16l5 5',
  send: 'M21 3 3 10l7 3 3 7zM10 13 21 3',
  server: 'M3 4h18v7H3zM3 13h18v7H3zM7 7.500v.1M7 16.500v.1',
  settings:
    'M12 15.500a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7zM12 2.500v3M12 18.500v3M2.500 12h3M18.500 12h3M5.300 5.300l2.100 2.100M16.600 16.600l2.100 2.100M5.300 18.700l2.100-2.100M16.600 7.400l2.100-2.100',
  shield: 'M12 3l8 3v6c0 5-4 8-8 9-4-1-8-4-8-9V6zM8.500 12l2.500 2.500 4.500-4.500',
  signout: 'M10 4H5v16h5M15 8l4 4-4 4M19 12H9',
  stop: 'M6 6h12v12H6z',
  sun: 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.400 1.400M17.600 17.600 19 19M5 19l1.400-1.400M17.600 6.400 19 5',
  survey: 'M5 20V10M12 20V4M19 20v-7',
  terminal: 'M4 6l6 6-6 6M12 18h8',
  trash: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5',
  unplugged: 'M9 15l-2 2a3 3 0 0 1-4-4l2-2zM15 9l2-2a3 3 0 0 1 4 4l-2 2zM9 9l6 6M3 3l3 3M18 18l3 3',
  up: 'M7 14l5-5 5 5',
  upload: 'M12 15V4M7 9l5-5 5 5M4 15v5h16v-5',
  webhook: 'M8 17a3.500 3.500 0 1 1-2-6.500M9 7a3.500 3.500 0 1 1 6 2l-3 5M12 17h5a3.500 3.500 0 1 0-1-6.500',
} as const;

export type IconName = keyof typeof paths;

export const Icon = ({ name }: { name: IconName }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
    <path d={paths[name]} />
  </svg>
);
