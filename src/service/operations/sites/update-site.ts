/**
 * `POST /sites/update` (interface document 4.2): changes what is sent and keeps the rest. A member of `settings` that is
 * sent replaces that member whole. A lost race is read again and merged anew, so that two clients
 * changing different members both succeed.
 */
import * as z from 'zod/mini';
import { withoutDefaults } from '../../../contract/management/patch-schema.ts';
import { site, siteKey, siteName } from '../../../contract/management/site.ts';
import { siteSettings } from '../../../contract/management/site-settings.ts';
import { updateSite as write } from '../../../store/d1/sites.ts';
import { issueDetails } from '../../http/body/parse-with-schema.ts';
import { operation } from '../define-operation.ts';
import { OperationError } from '../operation-error.ts';
import { checkDomains } from './check-domains.ts';
import { duplicateName, siteAnswer } from './site-response.ts';
import { ownSite } from './own-site.ts';

/**
 * Lost races in a row before the caller is told. Each means somebody else's update went through, so of this many
 * clients at once every one gets its turn.
 */
const ATTEMPTS_MAX = 20;

export const updateSite = operation({
  name: 'update-site',
  method: 'POST',
  path: '/sites/update',
  feature: 'Sites',
  permission: 'updateSite',
  access: 'write',
  summary: 'Change a site',
  body: z.strictObject({
    siteKey,
    name: z.optional(siteName),
    settings: z.optional(z.strictObject(withoutDefaults(siteSettings.shape))),
    /** `true` makes this the account's default site; the former one steps down. There is always one. */
    isDefault: z.optional(z.boolean()),
  }),
  response: site,
  async handler(context) {
    const { store, account, body, nowMs } = context;
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const current = await ownSite(context, body.siteKey);
      if (body.isDefault && !current.active) {
        throw new OperationError('API.BAD_REQUEST', 'An inactive site cannot be the default');
      }
      if (body.isDefault === false && current.isDefault) {
        throw new OperationError('API.BAD_REQUEST', 'Make another site the default instead');
      }
      const merged = siteSettings.safeParse({ ...current.settings, ...body.settings });
      if (!merged.success) {
        const details = issueDetails(merged.error).map((one) => ({ ...one, path: `settings.${one.path}` }));
        throw new OperationError('API.INVALID_BODY', 'The changed settings do not fit together', details);
      }
      const settings = { ...merged.data, domains: [...new Set(merged.data.domains)] };
      if (body.settings?.domains) checkDomains(account.tier, settings.domains);
      const outcome = await write(
        store,
        {
          siteKey: current.siteKey,
          accountId: account.id,
          name: body.name ?? current.name,
          settings,
          isDefault: body.isDefault ?? current.isDefault,
        },
        current.version,
        nowMs,
      );
      if (outcome.ok) return siteAnswer(await ownSite(context, body.siteKey));
      if (outcome.error === 'duplicate-name') throw duplicateName();
    }
    throw new OperationError('API.CONFLICT', 'The site is being changed by others; try again');
  },
});
