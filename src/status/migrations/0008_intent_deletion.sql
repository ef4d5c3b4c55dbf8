-- What Git said about the deletion of what a create was about to make; of older ones nobody knows.
ALTER TABLE intent ADD COLUMN deletion TEXT NOT NULL DEFAULT 'retain';
