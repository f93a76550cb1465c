/** The edge for any service, with its I/O counted. */
import edge from '../../../src/edge/any-service.ts';
import { counting } from './counting.ts';

export default counting(edge);
