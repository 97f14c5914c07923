/** What may be known of a user: the catalogue of profile properties. */
export const propertyNames = [
  'first_name',
  'last_name',
  'display_name',
  'number',
  'id_number',
  'citizenship',
  'device_platform',
  'app_version',
  'device_make',
  'device_model',
] as const;

export type PropertyName = (typeof propertyNames)[number];
