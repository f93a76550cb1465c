/** Sources of decisions about visitors: all but the gate's own endpoints, which a health check calls. */
import { verdictSources } from '../../contract/vocabulary.ts';

export const visitorSources = verdictSources.filter((source) => source !== 'internal');
