import { globSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';

/** The class with which a selector begins: what the rule is about. */
const FIRST_CLASS = /^(?:[a-z]+)?\.([a-z-]+)/;

test('each class is styled by one view, because all views share a style sheet', () => {
  const views = new Map<string, Set<string>>();
  for (const file of globSync('infra/portal/*/*.css')) {
    const rules = readFileSync(file, 'utf8').replaceAll(/\/\*.*?\*\//gs, '');
    for (const [, selectors = ''] of rules.matchAll(/([^{};]+)\{/g)) {
      for (const selector of selectors.split(',')) {
        const name = FIRST_CLASS.exec(selector.trim())?.[1];
        if (name !== undefined) views.set(name, (views.get(name) ?? new Set()).add(dirname(file)));
      }
    }
  }
  const several = [...views].filter(([, folders]) => !folders.has('infra/portal/shell') && folders.size > 1);
  expect(several.map(([name, folders]) => `${name}: ${[...folders].join(', ')}`)).toEqual([]);
});
