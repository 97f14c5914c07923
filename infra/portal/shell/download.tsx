/** Saves exports of the API: all pages in one file. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../../web/icons.tsx';
import { useToast } from '../../web/toast.tsx';
import { fetchFile, nextOf } from '../client.ts';
import { shell as words } from '../words/shell.ts';
import { sentenceOf } from './failure.tsx';

/** Milliseconds after which the browser has taken a file. */
const TAKEN_MS = 60_000;

/**
 * The pages of an export as one file.
 *
 * @param onBytes - is told how many bytes were read
 * @throws as `call`
 */
const readFile = async (address: string, onBytes: (bytes: number) => void): Promise<Blob> => {
  const parts: Blob[] = [];
  let bytes = 0;
  for (let next: string | undefined = address; next !== undefined; ) {
    const response = await fetchFile(next);
    const part = await response.blob();
    parts.push(part);
    bytes += part.size;
    onBytes(bytes);
    next = nextOf(response);
  }
  return new Blob(parts, { type: parts[0]?.type ?? '' });
};

const saveAs = (file: Blob, name: string): void => {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), TAKEN_MS);
};

interface DownloadProps {
  /** Path and query of the export: `addressOf` makes it. */
  address: string;
  /** The name of the file. Characters that a file system may reject are replaced. */
  name: string;
  /** Why there is nothing to save; undefined if there is something. */
  missing?: string | undefined;
  /** Makes the file that is saved from the export; without it, the export is saved. */
  convert?: (text: string) => string;
  children: ComponentChildren;
}

/** A name that every file system accepts. */
const accepted = (name: string): string => name.replaceAll(/[^\p{L}\p{N} ._-]+/gu, ' ').trim() || 'export';

/** The button that saves an export. Only a complete file is saved; it says how much was read, and what failed. */
export const Download = ({ address, name, missing, convert, children }: DownloadProps) => {
  const [bytes, setBytes] = useState<number>();
  const toast = useToast();
  const open = useRef(true);
  useEffect(() => {
    open.current = true;
    return () => {
      open.current = false;
    };
  }, []);
  const save = async () => {
    setBytes(0);
    try {
      const file = await readFile(address, (read) => {
        // The view was closed.
        if (!open.current) throw new Error(words.cancel);
        setBytes(read);
      });
      const saved = convert ? new Blob([convert(await file.text())], { type: 'text/csv;charset=utf-8' }) : file;
      saveAs(saved, accepted(name));
      toast(words.saved(accepted(name)));
    } catch (error) {
      if (open.current) toast(words.notSaved(sentenceOf(error)), 'bad');
    }
    if (open.current) setBytes(undefined);
  };
  return (
    <button
      type="button"
      disabled={missing !== undefined || bytes !== undefined}
      title={missing}
      onClick={() => void save()}
    >
      <Icon name="download" />
      {bytes === undefined ? children : words.saving(bytes)}
    </button>
  );
};
