/** The field for the file of a list. */
import { TextFileField, type TextFileFieldProps } from '../../components/text-file-field.tsx';

/** As the service takes them. */
const FILE_MAX_BYTES = 16_000_000;

export function ListFile({ onChoose }: Pick<TextFileFieldProps, 'onChoose'>) {
  return <TextFileField label="Choose the file" maxBytes={FILE_MAX_BYTES} onChoose={onChoose} />;
}
