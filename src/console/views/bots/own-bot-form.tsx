/** The form of an own bot. The service says which of its lines it does not accept. */
import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { CreateDialog } from '../../components/create-dialog.tsx';
import { CheckField, TextField } from '../../components/field.tsx';
import { type BotBehaviour, botBehaviours } from '../../../contract/vocabulary.ts';
import type { OwnBot } from './own-bot.ts';

export interface OwnBotFormProps {
  /** `null`: a new one. */
  bot: OwnBot | null;
  /** Ids of the bots that the account has. */
  taken: readonly string[];
  onClose: () => void;
  onSaved: (bot: OwnBot) => void;
}

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

export function OwnBotForm({ bot, taken, onClose, onSaved }: OwnBotFormProps) {
  const [id, setId] = useState(bot?.id ?? '');
  const [behaviours, setBehaviours] = useState<readonly BotBehaviour[]>(bot?.behaviours ?? []);
  const [patterns, setPatterns] = useState(bot?.patterns.join('\n') ?? '');
  const [networks, setNetworks] = useState(bot?.networks.join('\n') ?? '');
  const [tokens, setTokens] = useState(bot?.tokens.join('\n') ?? '');
  const [isComplete, setIsComplete] = useState(bot?.isComplete ?? false);
  return (
    <CreateDialog
      title={bot === null ? 'Add a bot' : `Change ${bot.id}`}
      verb={bot === null ? 'Add' : 'Save'}
      isWide
      isComplete={id.trim() !== '' && behaviours.length > 0 && linesOf(patterns).length > 0}
      send={() =>
        call('/protect/bots/own/add', {
          id: id.trim(),
          behaviours: [...behaviours],
          patterns: linesOf(patterns),
          networks: linesOf(networks),
          tokens: linesOf(tokens),
          isComplete,
        })
      }
      onMade={onSaved}
      onClose={onClose}
    >
      <TextField
        label="Id"
        isMono
        placeholder="shopbot"
        maxLength={64}
        hint={
          bot === null && taken.includes(id.trim())
            ? 'You have a bot with this id. It is replaced.'
            : 'Small letters, digits, dots and hyphens. With the id of a bot of the catalogue, it takes that bot’s place.'
        }
        value={id}
        onInput={setId}
        isDisabled={bot !== null}
      />
      <fieldset>
        <legend>Comes for</legend>
        <div class="group-members">
          {botBehaviours.map((one) => (
            <CheckField
              key={one}
              label={one}
              isChecked={behaviours.includes(one)}
              onChange={(isChosen) =>
                setBehaviours(botBehaviours.filter((other) => (other === one ? isChosen : behaviours.includes(other))))
              }
            />
          ))}
        </div>
      </fieldset>
      <TextField
        label="Texts in its user agent"
        hint="One in each line, at the start of a word. ^ in front is the beginning of the user agent, * any place."
        rows={3}
        isMono
        placeholder="ShopBot/"
        value={patterns}
        onInput={setPatterns}
      />
      <TextField
        label="Networks that it comes from"
        hint="One network or address in each line. Without one, its name is only claimed."
        rows={4}
        isMono
        placeholder="198.41.128.0/24"
        value={networks}
        onInput={setNetworks}
      />
      <CheckField
        label="It comes from nowhere else"
        hint="Others who use its name are impostors."
        isChecked={isComplete}
        onChange={setIsComplete}
      />
      <TextField
        label="Names in robots.txt"
        hint="One in each line."
        rows={2}
        isMono
        placeholder="ShopBot"
        value={tokens}
        onInput={setTokens}
      />
    </CreateDialog>
  );
}
