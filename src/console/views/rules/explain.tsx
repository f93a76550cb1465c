/** What the rules and categories say about a visitor, before one comes. */
import { useCall } from '../../api/call.ts';
import type { RequestOf } from '../../api/service-api.ts';
import { ButtonLink } from '../../components/button.tsx';
import { DecisionChip, VisitorText } from '../../components/values.tsx';
import { Load, Page, Section } from '../../components/page.tsx';
import { FilterForm } from '../../components/filter-form.tsx';
import { Table } from '../../components/table.tsx';
import { siteOf, siteParam } from '../../frame/instances.ts';
import { addressOf, useParams } from '../../url/params.ts';

const fields = [
  { param: 'ip', label: 'Address', placeholder: '192.0.2.1' },
  { param: 'asn', label: 'AS number', placeholder: '64496' },
  { param: 'countryCode', label: 'Country', placeholder: 'NL' },
  { param: 'ja4', label: 'JA4 fingerprint' },
  { param: 'userAgent', label: 'User agent', placeholder: 'Mozilla/5.0 …' },
  { param: 'path', label: 'Path', placeholder: '/' },
] as const;

export default function Explain() {
  const [params] = useParams();
  const visitor = Object.fromEntries(fields.flatMap(({ param }) => (params[param] ? [[param, params[param]]] : [])));
  const body = { ...siteOf(params), ...visitor } as RequestOf<'/protect/access-rules/explain'>;
  const loaded = useCall('/protect/access-rules/explain', Object.keys(visitor).length === 0 ? null : body);
  return (
    <Page
      title="Try a visitor"
      lead="What rules, the bot policy at a path and address categories say about a visitor. Risk, session and path rules belong to a request: they are in its verdict."
      actions={<ButtonLink href={addressOf('/console/rules', siteParam(params))}>Back to the rules</ButtonLink>}
    >
      <FilterForm verb="Explain" fields={fields} isQuestion />
      <Load of={loaded}>
        {(value) => (
          <Section title="Result">
            <div class="stack" role="status">
              <p>
                <DecisionChip decision={value.decision} />{' '}
                {value.enforcementPolicy === 'monitor' && 'The instance only monitors: the request would be forwarded.'}
              </p>
              <p>
                <VisitorText text={value.explain} />
              </p>
              {value.bot !== null && (
                <p>
                  Taken for the bot <VisitorText text={value.bot.id} />, proof: {value.bot.proof}. The bot policy says{' '}
                  {value.bot.action} at this path.
                </p>
              )}
              {value.firedRules.length > 0 && (
                <Table
                  caption="Rules that match"
                  rows={value.firedRules}
                  keyOf={({ id }) => id}
                  columns={[
                    { title: 'Rule', isWide: true, cell: ({ id }) => <VisitorText text={id} maxChars={80} /> },
                    { title: 'Verdict', cell: ({ verdict }) => <DecisionChip decision={verdict} /> },
                    { title: 'Mode', cell: ({ mode }) => mode },
                  ]}
                />
              )}
            </div>
          </Section>
        )}
      </Load>
    </Page>
  );
}
