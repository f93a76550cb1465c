/** A bot that the account has added, as the API lists it and takes it. */
import type { ResponseOf } from '../../api/service-api.ts';

export type OwnBot = ResponseOf<'/protect/bots/own'>['bots'][number];
