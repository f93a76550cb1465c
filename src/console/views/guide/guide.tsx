/** The installation guide under an address of its own, for accounts that have traffic already. */
import { Load, Page } from '../../components/page.tsx';
import { useState } from 'preact/hooks';
import { may } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { Time } from '../../components/values.tsx';
import { addressOf } from '../../url/params.ts';
import { Enforcement } from '../instances/enforcement.tsx';
import { instanceAddress } from '../../frame/instances.ts';
import { IssueClientJwt } from '../instances/client-jwts.tsx';
import { NewInstance } from '../instances/instances.tsx';
import { NewSite, siteAddress } from '../sites/sites.tsx';
import { BackendCode, Code, GuideStep, WidgetCode } from './form-steps.tsx';
import { useProgress } from './use-progress.ts';

export default function Guide() {
  return (
    <Page title="Installation guide" lead="From an empty account to a site that is protected.">
      <Installation />
    </Page>
  );
}

type Form = 'site' | 'instance' | 'client-jwt';

/** The steps from an empty account to a site that is protected. */
export function Installation() {
  const progress = useProgress();
  const { site, instance, hasClientJwt, edgeContactAt, newestRequestAt, isEnforcing } = progress;
  const { widgetSolvedAt = null, backendVerifiedAt = null } = site ?? {};
  const [form, setForm] = useState<Form | null>(null);
  const [clientJwt, setClientJwt] = useState<string | null>(null);
  const close = (): void => {
    setForm(null);
    progress.loaded.reload();
  };
  const edge = { cname: instance?.cname ?? 'www.example.com', service: location.origin, clientJwt };
  const local = instance === null ? null : localEdge(instance.cname, new URL(location.href));
  // A visitor's request shows it too, also of an edge that cannot reach the service.
  const isEdgeThere = edgeContactAt !== null || newestRequestAt !== null;
  const done = [
    site !== null,
    instance !== null,
    hasClientJwt,
    isEdgeThere,
    widgetSolvedAt !== null,
    backendVerifiedAt !== null,
    isEnforcing,
  ];
  return (
    <>
      <Load of={progress.loaded} />
      <p class="guide-progress" role="status">
        {done.filter(Boolean).length} of {done.length} steps are done. Each turns green by itself when the system sees
        it happen.
      </p>
      <ol class="steps">
        <GuideStep
          title="1. Create a site"
          isDone={site !== null}
          seen={site !== null && <a href={siteAddress(site)}>{site.name}</a>}
        >
          <p>A site has the keys of your widget and of your backend.</p>
          {site === null && may('createSite') && (
            <div class="actions">
              <Button kind="primary" onClick={() => setForm('site')}>
                Create a site
              </Button>
            </div>
          )}
        </GuideStep>
        <GuideStep
          title="2. Create an instance"
          isDone={instance !== null}
          seen={instance !== null && <a href={instanceAddress(instance)}>{instance.name}</a>}
        >
          <p>
            An instance is what one edge enforces. It starts in monitor mode: its edge decides and records everything
            and enforces nothing, until you say so in the last step.
          </p>
          {instance === null && may('updateProtectSettings') && (
            <div class="actions">
              <Button kind="primary" isDisabled={site === null} onClick={() => setForm('instance')}>
                Create an instance
              </Button>
            </div>
          )}
        </GuideStep>
        <GuideStep
          title="3. Issue a client JWT"
          isDone={hasClientJwt}
          seen={
            instance !== null && <a href={`${instanceAddress(instance)}?tab=jwts`}>The client JWTs of the instance</a>
          }
        >
          <p>The credential of the edge. It is shown once, and filled into the commands below.</p>
          {may('updateProtectSettings') && (
            <div class="actions">
              <Button
                kind={hasClientJwt ? 'plain' : 'primary'}
                isDisabled={instance === null}
                onClick={() => setForm('client-jwt')}
              >
                Issue a client JWT
              </Button>
            </div>
          )}
        </GuideStep>
        <GuideStep
          title="4. Put the edge in front of the site"
          isDone={isEdgeThere}
          seen={
            <>
              {edgeContactAt !== null && (
                <>
                  The edge made contact at <Time at={edgeContactAt} />.{' '}
                </>
              )}
              {newestRequestAt === null ? (
                'No visitor has come through it yet.'
              ) : (
                <>
                  The newest request came at <Time at={newestRequestAt} />. <a href="/console">See the traffic</a>
                </>
              )}
            </>
          }
        >
          {local === null ? (
            <>
              <p>In a clone of the project.</p>
              <Code label="Configuration of the edge" text={edgeConfiguration(edge)} />
              <Code label="Deploy the edge" text={deployCommands(edge)} />
              <Code label="Check it: status ok, and a decision on every response" text={checkEdge(edge)} />
            </>
          ) : (
            <>
              <p>
                This is the local stack of <code>npm start</code>. Its edge runs already, in front of{' '}
                <a href={local}>the site</a>: there is nothing to deploy.
              </p>
              <Code label="Check it: a decision on every response" text={checkLocalEdge(local)} />
            </>
          )}
        </GuideStep>
        <GuideStep
          title="5. Show the widget in a form"
          isDone={widgetSolvedAt !== null}
          seen={
            widgetSolvedAt !== null && (
              <>
                A visitor first solved it on a page of the site at <Time at={widgetSolvedAt} />.
              </>
            )
          }
        >
          <p>
            Only if you have forms or calls that need a proof of their own, such as a login. Otherwise go on. The gate’s
            challenge page has a widget of its own, which does not count here.
          </p>
          <WidgetCode siteKey={site?.siteKey ?? 'SITE_KEY'} />
        </GuideStep>
        <GuideStep
          title="6. Verify its token in your backend"
          isDone={backendVerifiedAt !== null}
          seen={
            backendVerifiedAt !== null && (
              <>
                A server of the site first verified a token at <Time at={backendVerifiedAt} />.
              </>
            )
          }
        >
          <p>The form field captcha-response has the token. Without this step the widget protects nothing.</p>
          <BackendCode site={site} />
        </GuideStep>
        <GuideStep title="7. Start to enforce" isDone={isEnforcing} seen="Visitors are challenged and blocked.">
          <p>
            Leave it in monitor mode for a day. Then look at what would not have passed, first at{' '}
            <a href={addressOf('/console/verdicts', { rule: 'session:no-page', site: instance?.globalSiteKey })}>
              requests that no page of your site prepared
            </a>
            : webhooks, mobile apps, health checks. Each is a bot, or a client that needs a policy before you enforce.
          </p>
          {instance !== null && <Enforcement instance={instance} />}
        </GuideStep>
      </ol>
      {form === 'site' && <NewSite onClose={close} onCreated={close} />}
      {form === 'instance' && <NewInstance onClose={close} onCreated={close} />}
      {form === 'client-jwt' && instance !== null && (
        <IssueClientJwt instanceId={instance.id} onClose={close} onIssued={setClientJwt} />
      )}
    </>
  );
}

export interface EdgeFacts {
  /** Host name of the protected site. */
  cname: string;
  service: string;
  /** `null`: it was shown once and nobody can show it again. */
  clientJwt: string | null;
}

/** Shell lines of the installation with the account's own names, as in the operator's documentation. */
export function edgeConfiguration({ service }: EdgeFacts): string {
  return `# wrangler.toml
SERVICE_URL = "${service}"
ORIGIN_URL = "zone"   # the server that the zone's DNS record names, as without the gate`;
}

export function deployCommands({ cname, clientJwt }: EdgeFacts): string {
  return `export CLIENT_JWT=${clientJwt ?? '…   # the one of the step above'}
export OPS_TOKEN=$(openssl rand -hex 24)
echo "Keep this token for health checks: OPS_TOKEN=$OPS_TOKEN"
(umask 077; echo "CLIENT_JWT=$CLIENT_JWT" > .dev.vars; echo "OPS_TOKEN=$OPS_TOKEN" >> .dev.vars)
npx wrangler deploy --config wrangler.toml --route '${cname}/*' --secrets-file .dev.vars
rm .dev.vars`;
}

/** The instance that `npm start` makes has this name, and the port of its gate is the one before the service's. */
const LOCAL_CNAME = 'localhost';

/** Address of the local stack's gate; `null`: the instance is not the local stack's. */
export function localEdge(cname: string, { protocol, hostname, port }: URL): string | null {
  return cname === LOCAL_CNAME && protocol === 'http:' ? `http://${hostname}:${Number(port) - 1}/` : null;
}

function checkLocalEdge(address: string): string {
  return `curl -si ${address} | grep -i x-protect`;
}

export function checkEdge({ cname }: EdgeFacts): string {
  return `curl -s https://${cname}/__protect/health -H "Authorization: Bearer $OPS_TOKEN"
curl -si https://${cname}/ | grep -i x-protect`;
}
