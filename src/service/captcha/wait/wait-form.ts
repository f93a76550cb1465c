/** The form inside the frame for visitors without scripts. Other fields are ignored. */
import * as z from 'zod/mini';
import { HONEYPOT_FIELD } from '../../../captcha/plan/honeypot.ts';
import { solutionRequest } from '../../../contract/captcha/challenge-api.ts';

export const waitForm = z.object({
  challenge: solutionRequest.shape.challenge,
  [HONEYPOT_FIELD]: solutionRequest.shape.honeypot,
});
