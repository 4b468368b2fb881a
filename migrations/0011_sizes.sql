ALTER TABLE `placements` ADD `sizes` text;
