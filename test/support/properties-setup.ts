/** Gives fast-check the seed of this run, and its usual number of inputs to tests that name none. */
import * as fc from 'fast-check';
import { propertySeed, runs } from './properties.ts';

const USUAL_RUNS = 100;

fc.configureGlobal({ seed: propertySeed, numRuns: runs(USUAL_RUNS) });
