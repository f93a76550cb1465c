/** Starts the test clock for each file, whose constants may read it, and again for each test. */
import { beforeAll, beforeEach } from 'vitest';
import { BASE_MS, setClock } from './clock.ts';

const begin = (): void => setClock(BASE_MS);

begin();
beforeAll(begin);
beforeEach(begin);
