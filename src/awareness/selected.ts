/** A block the user has highlighted. */
export type SelectedBlock = { readonly block: number; readonly name: string | null };
