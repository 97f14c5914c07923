/** Matches requests to the routes of an HTTP API. */
import type { RouteDefinition } from '../template/definitions.ts';

export interface Match {
  route: RouteDefinition;
  parameters: Record<string, string>;
}

/** The route for a method and a raw path. Static parts take precedence over `{x}`, and `{x}` over `{rest+}`. */
export const matchRoute = (routes: RouteDefinition[], method: string, path: string): Match | undefined => {
  const segments = path.split('/').slice(1);
  return routes
    .flatMap((route) => {
      const [routeMethod, template = ''] = route.key.split(' ');
      const matched = routeMethod === method ? matchSegments(template.split('/').slice(1), segments) : undefined;
      return matched ? [{ route, ...matched }] : [];
    })
    .sort((a, b) => (a.rank < b.rank ? -1 : 1))
    .at(0);
};

/** The parameters, and a rank by which specific matches sort first: a digit for each segment. */
const matchSegments = (
  template: string[],
  segments: string[],
): { parameters: Record<string, string>; rank: string } | undefined => {
  const parameters: Record<string, string> = {};
  let rank = '';
  for (const [index, part] of template.entries()) {
    const segment = segments[index];
    const [, name, greedy] = /^\{([^+}]+)(\+)?\}$/.exec(part) ?? [];
    if (name !== undefined && greedy !== undefined) {
      if (segment === undefined) return undefined;
      parameters[name] = segments.slice(index).map(decode).join('/');
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
