/** The edge with a service of this project, with its I/O counted. */
import edge from '../../../src/edge/index.ts';
import { counting } from './counting.ts';

export default counting(edge);
