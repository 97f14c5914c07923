/**
 * @module-tag long
 *
 * A general validator checks the API description. Loading the validator takes seconds of processor time.
 */
import { readFile } from 'node:fs/promises';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect, test } from 'vitest';
import { DESCRIPTION_FILE } from '../../infra/openapi/write.ts';

const written = await readFile(DESCRIPTION_FILE, 'utf8');
const description = JSON.parse(written);

/** The errors that the validator finds in a description. */
const errorsIn = async (source: string): Promise<string[]> => {
  const config = await createConfig({
    extends: ['recommended-strict'],
    rules: {
      // The service fills in the hosts when it returns the description.
      'no-server-example.com': 'off',
      // No id of a request is "start", and no phone number "deleted".
      'no-ambiguous-paths': 'off',
      // What readers of other tools' recommended rules expect, too.
      'info-contact': 'error',
      'operation-description': 'error',
      'operation-tag-defined': 'error',
      'parameter-description': 'error',
      'rule/info-description': { subject: { type: 'Info', property: 'description' }, assertions: { defined: true } },
      'rule/operation-tags': {
        subject: { type: 'Operation', property: 'tags' },
        assertions: { defined: true, minLength: 1 },
      },
    },
  });
  const problems = await lintFromString({ source, config });
  return problems
    .map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer ?? ''}`)
    .filter((error) => !isExplanation.test(error));
};

/** The type of a problem refers to its explanation by URL. */
const isExplanation = /^no-unused-components: .* #\/components\/responses\/\w+$/;

test('a general validator finds no error in the API description', async () => {
  expect(await errorsIn(written)).toEqual([]);
});

test.each<[string, (broken: typeof description) => void, string]>([
  ['a description without a title', ({ info }) => delete info.title, 'struct'],
  [
    'an example that is invalid by its schema',
    ({ paths }) => {
      paths['/v1/profiler_answer'].post.requestBody.content['application/json'].examples[
        'a-panelist-s-answer'
      ].value.phone_number = '+27';
    },
    'no-invalid-media-type-examples',
  ],
  ['a broken reference', ({ components }) => delete components.schemas.Option, 'no-unresolved-refs'],
  [
    'a schema that nothing uses',
    ({ components }) => Object.assign(components.schemas, { Lost: {} }),
    'no-unused-components',
  ],
  ['an operation without a tag', ({ paths }) => delete paths['/v1/profiler_answer'].post.tags, 'rule/operation-tags'],
  ['an unknown tag', ({ paths }) => paths['/v1/profiler_answer'].post.tags.push('Lost'), 'operation-tag-defined'],
])('the validator finds %s', async (_, breakIt, rule) => {
  const broken = JSON.parse(written);
  breakIt(broken);
  expect((await errorsIn(JSON.stringify(broken))).filter((error) => error.startsWith(`${rule}:`))).not.toEqual([]);
});
