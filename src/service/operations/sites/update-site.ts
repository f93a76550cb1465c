/**
 * `POST /sites/update`: changes the fields that are sent and keeps the others. A field of `settings` that is sent
 * replaces that whole field. When another update was faster, the site is read again and merged again, so two clients
 * that change different fields both succeed.
 */
import * as z from 'zod/mini';
import { withoutDefaults } from '../../../contract/management/patch-schema.ts';
import { site, siteKey, siteName } from '../../../contract/management/site.ts';
import { siteSettings } from '../../../contract/management/site-settings.ts';
import { updateSite as write } from '../../../store/d1/sites.ts';
import { issueDetails } from '../../http/body/parse-with-schema.ts';
import { operation } from '../define-operation.ts';
import { OperationError } from '../operation-error.ts';
import { checkVersion, ifVersion } from '../stale-write.ts';
import { checkDomains } from './check-domains.ts';
import { duplicateName, siteResponse } from './site-response.ts';
import { ownSite } from './own-site.ts';

/** Attempts before 409. Each failed attempt means that another update succeeded, so this many parallel clients all do. */
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
    /** `true` makes this the default site of the account, instead of the former one. There is always one. */
    isDefault: z.optional(z.boolean()),
    /** `version` of the site that this change was made for. If it is another one by now, nothing changes: 409. */
    ifVersion,
  }),
  response: site,
  async handler(context) {
    const { store, account, body, nowMs } = context;
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const current = await ownSite(context, body.siteKey);
      checkVersion('The site', body.ifVersion, current.version);
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
      if (outcome.ok) return siteResponse(await ownSite(context, body.siteKey));
      if (outcome.error === 'duplicate-name') throw duplicateName();
    }
    throw new OperationError('API.CONFLICT', 'Other clients are changing this site; try again');
  },
});
