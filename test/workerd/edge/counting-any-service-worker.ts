/** The edge against any service, counted. */
import edge from '../../../src/edge/any-service.ts';
import { counting } from './counting.ts';

export default counting(edge);
