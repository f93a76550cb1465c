/**
 * Middleware for Express 4 and 5. It reads the header or `req.body`, so a body parser comes before it, and the body
 * stays as that parser left it. Handlers find the result in `req.gatehouse`.
 */
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import {
  type Refusal,
  refusalOf,
  SIGNATURE_REFUSAL,
  type SignatureGuardOptions,
  type TokenOptions,
  written,
} from './middleware/guard.ts';
import { parsedField } from './middleware/parsed-field.ts';
import { verifyField } from './middleware/verify-field.ts';
import { checkSignature, type SignatureResult } from './signature/check-signature.ts';
import type { VerifyResult } from './verify/verify-result.ts';

declare global {
  // oxlint-disable-next-line typescript/no-namespace -- Express has the fields of its request here.
  namespace Express {
    interface Request {
      gatehouse?: VerifyResult;
      gatehouseSignature?: SignatureResult;
    }
  }
}

/** `onRefused` writes to `res`. */
export interface ExpressCall {
  req: Request;
  res: Response;
}

/** Lets a submission through whose token verifies. */
export function requireToken(options: TokenOptions<ExpressCall, void>): RequestHandler {
  return function requireTokenOfRequest(req, res, next) {
    const call = { req, res };
    async function isVerified(): Promise<boolean> {
      const result = await verifyField(options.verifier, parsedField(req, options), options.describe?.(call));
      req.gatehouse = result;
      if (result.pass) return true;
      await (options.onRefused ? options.onRefused(result, call) : send(call, refusalOf(result)));
      return false;
    }
    void goOn(isVerified, next);
  };
}

/** Lets a request through that the gate signed. */
export function requireSignature(options: SignatureGuardOptions<ExpressCall, void>): RequestHandler {
  return function requireSignatureOfRequest(req, res, next) {
    async function isSigned(): Promise<boolean> {
      // A router removes its own path from `url`.
      const { method, headers, originalUrl: url } = req;
      const result = await checkSignature({ method, url, headers }, options);
      req.gatehouseSignature = result;
      if (result.valid) return true;
      await (options.onRefused ? options.onRefused(result, { req, res }) : send({ req, res }, SIGNATURE_REFUSAL));
      return false;
    }
    void goOn(isSigned, next);
  };
}

/** Express 4 does not wait for promises, so errors are handed on here. */
async function goOn(passes: () => Promise<boolean>, next: NextFunction): Promise<void> {
  let isPassed: boolean;
  try {
    isPassed = await passes();
  } catch (error) {
    next(error);
    return;
  }
  if (isPassed) next();
}

function send({ req, res }: ExpressCall, refusal: Refusal): void {
  const { status, headers, text } = written(refusal, req.headers.accept);
  res.status(status).set(headers).send(text);
}
