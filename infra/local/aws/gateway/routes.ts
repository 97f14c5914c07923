/** Matches requests to the routes of an HTTP API. */
import type { RouteDefinition } from '../template/definitions.ts';

export interface Match {
  route: RouteDefinition;
  parameters: Record<string, string>;
}

/** Whether `{rest+}` matches an empty rest, as in `/things/`. AWS does not document it, so the emulator knows both readings. */
export type EmptyRest = 'matches' | 'does not match';

/**
 * The route for a method and a raw path. Static parts take precedence over `{x}`, `{x}` over `{rest+}`, a method over
 * `ANY`, and all of these over `$default`.
 */
export const matchRoute = (
  routes: RouteDefinition[],
  { method, path }: { method: string; path: string },
  emptyRest: EmptyRest,
): Match | undefined => {
  const segments = path.split('/').slice(1);
  const [match] = routes
    .flatMap((route) => {
      const [routeMethod, template = ''] = route.key.split(' ');
      if (routeMethod !== method && routeMethod !== 'ANY') return [];
      const matched = matchSegments(template.split('/').slice(1), segments, emptyRest);
      return matched ? [{ route, ...matched, rank: `${matched.rank}${routeMethod === 'ANY' ? 1 : 0}` }] : [];
    })
    .sort((a, b) => (a.rank < b.rank ? -1 : 1));
  if (match !== undefined) return match;
  const route = routes.find(({ key }) => key === '$default');
  return route && { route, parameters: {} };
};

/** The parameters, and a rank by which specific matches sort first: a digit for each segment. */
const matchSegments = (
  template: string[],
  segments: string[],
  emptyRest: EmptyRest,
): { parameters: Record<string, string>; rank: string } | undefined => {
  const parameters: Record<string, string> = {};
  let rank = '';
  for (const [index, part] of template.entries()) {
    const segment = segments[index];
    const [, name, greedy] = /^\{([^+}]+)(\+)?\}$/.exec(part) ?? [];
    if (name !== undefined && greedy !== undefined) {
      const rest = segments.slice(index);
      if (segment === undefined || (rest.join('/') === '' && emptyRest !== 'matches')) return undefined;
      parameters[name] = rest.map(decode).join('/');
      return { parameters, rank: `${rank}2` };
    }
    if (name === undefined ? segment !== part : !segment) return undefined;
    if (name !== undefined && segment !== undefined) parameters[name] = decode(segment);
    rank += name === undefined ? '0' : '1';
  }
  return segments.length === template.length ? { parameters, rank } : undefined;
};

/** A segment without percent-encoding; unchanged if the encoding is invalid. */
const decode = (segment: string): string => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
};
