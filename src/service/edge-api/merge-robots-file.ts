/**
 * `POST /edge/v1/robots` `{text}` → `{text}`: an edge sends the robots.txt of its origin and gets it merged with the bot
 * policy of its instance. The edge itself would carry the code and the names of some hundred bots for one path.
 */
import * as z from 'zod/mini';
import { contentNotes } from '../../bots/robots/content-notes.ts';
import { mergeRobots } from '../../bots/robots/merge-robots.ts';
import { ROBOTS_MAX_BYTES } from '../../contract/edge/robots-bounds.ts';
import { robotsGroups } from '../../bots/robots/robots-groups.ts';
import { botCatalogue } from '../bots/bot-catalogue.ts';
import { readBodyAs } from '../http/body/read-body.ts';
import { jsonResponse } from '../http/json-response.ts';
import { errorResponse } from '../http/respond-error.ts';
import type { EdgeRoute } from './edge-route.ts';

/** JSON writes a control character in six bytes. */
const BODY_MAX_BYTES = 6 * ROBOTS_MAX_BYTES + 1024;
const robotsRequest = z.strictObject({ text: z.string().check(z.maxLength(ROBOTS_MAX_BYTES)) });

export const mergeRobotsFile: EdgeRoute = {
  method: 'POST',
  path: '/edge/v1/robots',
  async handler({ instance, request }) {
    const body = await readBodyAs(robotsRequest, request, BODY_MAX_BYTES);
    if (!body.ok) return errorResponse(body.error);
    const { botPolicy } = instance;
    const groups = robotsGroups(botPolicy, botCatalogue.bots);
    return jsonResponse({ text: mergeRobots(body.value.text, groups, contentNotes(botPolicy)) });
  },
};
