/** Writes the coverage of a test process, where it is collected: the runner ends its processes before they would. */
import { takeCoverage } from 'node:v8';
import { afterAll } from 'vitest';

afterAll(() => takeCoverage());
